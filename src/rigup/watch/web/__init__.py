"""The page of `rigup watch --web`: one page that fetches nothing from elsewhere, by Starlette (extra `web`)."""
