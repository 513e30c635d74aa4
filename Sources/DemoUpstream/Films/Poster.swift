/// A picture by its address. Sizes are the schema's `PosterSize`.
struct Poster: Sendable {
  let url: String
  let width: Int
  let height: Int
  let alt: String?

  init(of id: String, size: String?, alt: String?) {
    width =
      switch size {
      case "SMALL": 120
      case "LARGE": 960
      default: 360
      }
    height = width * 3 / 2
    url = "https://images.films.example/\(id)/\(width)x\(height).webp?v=1&fit=cover"
    self.alt = alt
  }
}
