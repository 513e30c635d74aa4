struct Film: Row {
  /// A person and the part they play.
  struct Credit: Sendable, Hashable {
    let role: String
    let personID: String
  }

  struct Money: Sendable, Hashable {
    let amount: Hundredths
    let currency: String
  }

  let id: String
  var title: String
  var originalTitle: String?
  var year: Int
  var synopsis: String?
  var tagline: String?
  var genres: [String]
  var country: String
  var runtimeMinutes: Int?
  var releaseDate: String?
  var catalogueNumber: Int64
  var views: Int64
  var boxOffice: Money?
  var rating: Rating
  var directorID: String?
  var credits: [Credit]
  var studioID: String?
  var updatedAt: String
}
