struct Studio: Row {
  let id: String
  var name: String
  var country: String
  var city: String?
  var foundedIn: Int?
  var website: String?
  var updatedAt: String
}
