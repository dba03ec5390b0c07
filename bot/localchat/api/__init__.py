"""The Bot API as an unchanged client sees it: one module per family of methods, and the route that joins them."""
