"""Generated plugins: installed below the home, verified at every use, run as child processes."""
