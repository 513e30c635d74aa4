/// Someone who signed in: what they noted and rated is all the library knows of them.
struct User: Row {
  let id: String
  var name: String
  var memberSince: String
  /// Film ids, the latest last.
  var watchlist: [String] = []
  /// Stars by film id.
  var stars: [String: Int] = [:]
}
