/// One page of a Relay connection. A cursor names the last film seen, so that a page stays where it
/// is while films come and go before it.
struct FilmPage: Sendable {
  let films: [Film]
  let totalCount: Int
  let hasNext: Bool
  let hasPrevious: Bool

  /// - Returns: nil if the cursor names none of the films.
  init?(of films: [Film], first: Int, after cursor: String?) {
    var start = 0
    if let cursor {
      guard let place = films.firstIndex(where: { Self.cursor(of: $0) == cursor }) else {
        return nil
      }
      start = place + 1
    }
    self.films = Array(films[start...].prefix(first))
    totalCount = films.count
    hasPrevious = start > 0
    hasNext = start + self.films.count < films.count
  }

  static func cursor(of film: Film) -> String { "after~" + film.id }
}
