"""The 85 categories; the published list has as many, under its own names."""

CATEGORIES: tuple[str, ...] = (
    *("Announcements", "Architecture", "Art", "Astronomy", "Audio", "Aviation", "Benchmarks"),
    *("Biology", "Books", "Browsers", "Business", "Cars", "Censorship", "Chemistry", "Chess"),
    *("Cinema", "Clusters", "Comics", "Compilers", "Consoles", "Cooking", "Courts", "Crime"),
    *("Cryptography", "Cycling", "Databases", "Design", "Displays", "Economy", "Editors"),
    *("Education", "Electronics", "Elections", "Encyclopedias", "Energy", "Environment"),
    *("Film", "Fonts", "Games", "Genetics", "Geography", "Graphics", "Hardware", "Health"),
    *("History", "Humour", "Interviews", "Jobs", "Kernels", "Languages", "Law", "Libraries"),
    *("Licences", "Literature", "Mathematics", "Media", "Medicine", "Memory", "Mobile", "Music"),
    *("Networks", "News", "Patents", "Photography", "Physics", "Politics", "Printing", "Privacy"),
    *("Processors", "Programming", "Radio", "Railways", "Reviews", "Robots", "Science"),
    *("Security", "Software", "Space", "Sports", "Storage", "Telephony", "Television", "Toys"),
    *("Travel", "Weather"),
)
