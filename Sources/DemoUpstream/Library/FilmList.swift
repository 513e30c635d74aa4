struct FilmList: Row {
  let id: String
  var name: String
  var note: String?
  let ownerID: String
  var filmIDs: [String]
  let createdAt: String
}
