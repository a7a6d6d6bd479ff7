def render_page(f): return ''
