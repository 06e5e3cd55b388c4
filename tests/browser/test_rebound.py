"""A page whose own name was made to point to this machine, and `kubeclassic serve`: it learns nothing and can
do nothing."""

from tests.live.server.test_serving import serving

ASK = """async ([path, options]) => {
  const found = await fetch(path, options);
  return [found.status, await found.text()];
}"""
BINDING = '{"PodName": "w", "PodNamespace": "default", "Node": "a"}'
BIND = {"method": "POST", "headers": {"content-type": "application/json"}, "body": BINDING}
PATHS = ("/metrics", "/healthz")


def test_another_name(chromium, tmp_path):
    """Every path answers 421 to a page under another name, a binding too, and nothing of the cluster is in
    the answers."""
    with serving(tmp_path) as server, chromium.in_use():
        page = chromium.browser.new_page()
        try:
            page.goto(f"http://www.rebound.example:{server.port}/metrics")
            answers = [page.evaluate(ASK, [path, {}]) for path in PATHS] + [
                page.evaluate(ASK, ["/bind", BIND])
            ]
        finally:
            page.close()
    assert [status for status, _ in answers] == [421] * (len(PATHS) + 1)
    assert [text for _, text in answers if "release" in text or "nodes" in text] == []
