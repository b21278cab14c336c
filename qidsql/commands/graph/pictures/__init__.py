"""The graph as pictures: SVG, DOT, Mermaid, a page."""
