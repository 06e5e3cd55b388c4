"""What a replay starts from: manifests, recordings, published traces and scenarios."""
