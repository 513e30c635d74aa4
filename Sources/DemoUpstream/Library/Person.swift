struct Person: Row {
  let id: String
  var name: String
  /// Family name first.
  var sortName: String
  var nationality: String?
  var bornOn: String?
  var diedOn: String?
  var biography: String?
  var updatedAt: String

  /// The year of birth, from the day.
  var bornIn: Int? { bornOn.flatMap { Int($0.prefix(4)) } }
}
