"""Policy files and profiles: checked, translated."""
