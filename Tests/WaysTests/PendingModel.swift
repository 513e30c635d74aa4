import LosslessJSON

/// A plain model of a device's optimistic updates: changes in the order of its queue, applied to the shared
/// data.
struct PendingModel {
  struct Change {
    let mutation: String
    let film: String
    /// The changed fields; nil deletes the film.
    let fields: [JSONMember]?
    var creates = false
  }

  var changes: [Change] = []

  /// A film as the device sees it; nil if it is to be deleted.
  func film(_ film: JSONValue) -> JSONValue? {
    var members = film.members ?? []
    var mutations: [JSONValue] = []
    for change in changes where .string(change.film) == film["id"] {
      guard let fields = change.fields else { return nil }
      mutations.append(.string(change.mutation))
      for field in fields {
        members.removeAll { $0.name == field.name }
        members.append(field)
      }
    }
    if !mutations.isEmpty { members.append(JSONMember("_pending", .array(mutations))) }
    return .object(members)
  }

  /// An operation's list: pending creations are not in it, pending deletions are removed.
  func films(_ films: [JSONValue]) -> [JSONValue] { films.compactMap(film) }

  /// The collection of all films as the device sees it.
  func collection(_ films: [JSONValue]) -> [JSONValue] {
    let made = changes.filter(\.creates).map {
      JSONValue.object([JSONMember("id", .string($0.film))])
    }
    return self.films(films + made)
  }

  func isDeleted(_ film: String) -> Bool {
    changes.contains { $0.film == film && $0.fields == nil }
  }
}
