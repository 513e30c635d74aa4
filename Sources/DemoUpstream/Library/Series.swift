struct Series: Row {
  let id: String
  var title: String
  var year: Int
  /// Absent while the series runs.
  var endYear: Int?
  var synopsis: String?
  var genres: [String]
  var country: String
  var seasons: Int
  var episodes: Int
  var rating: Rating
  var studioID: String?
  var castIDs: [String]
  var updatedAt: String
}
