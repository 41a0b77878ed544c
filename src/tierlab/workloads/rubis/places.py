"""The categories and the regions: as many as published, under names of our own."""

CATEGORIES: tuple[str, ...] = (
    *("Antiques", "Art", "Bicycles", "Books", "Cameras", "Ceramics", "Clothes", "Coins"),
    *("Computers", "Films", "Furniture", "Games", "Garden", "Instruments", "Jewels", "Maps"),
    *("Records", "Sports", "Stamps", "Tools"),
)

REGIONS: tuple[str, ...] = (
    *("Aarhus", "Antwerp", "Athens", "Barcelona", "Basel", "Belgrade", "Bergen", "Berlin"),
    *("Bilbao", "Bologna", "Bordeaux", "Bratislava", "Bremen", "Brno", "Brussels", "Bucharest"),
    *("Budapest", "Cardiff", "Cologne", "Copenhagen", "Cork", "Dresden", "Dublin", "Edinburgh"),
    *("Florence", "Frankfurt", "Geneva", "Genoa", "Ghent", "Glasgow", "Graz", "Hamburg"),
    *("Helsinki", "Leeds", "Leipzig", "Lille", "Lisbon", "Ljubljana", "London", "Lyon"),
    *("Madrid", "Malaga", "Marseille", "Milan", "Munich", "Nantes", "Naples", "Oslo", "Paris"),
    *("Porto", "Prague", "Riga", "Rome", "Rotterdam", "Seville", "Sofia", "Stockholm", "Tallinn"),
    *("Turin", "Vienna", "Vilnius", "Warsaw"),
)
