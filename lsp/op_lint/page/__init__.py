"""The report as one page for a browser: what it shows (`data`) and how it gets into one file (`render`)."""
