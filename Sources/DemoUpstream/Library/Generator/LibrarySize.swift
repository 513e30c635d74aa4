/// How much there is of everything.
struct LibrarySize: Sendable, Hashable {
  var films = 2_400
  var people = 1_800
  var studios = 120
  var series = 300
}
