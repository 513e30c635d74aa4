import LosslessJSON
import Model
import Storage

/// A film as a device must see it: what everybody sees, under what its own changes lay over it in
/// the order of its queue.
struct ExpectedFilm {
  /// What everybody sees, by name in canonical text; nil where there is no such film.
  private let base: [String: String]?
  private var own: [String: String] = [:]
  private var isHidden = false
  private var pending: [String] = []

  init(base: [String: String]?) {
    self.base = base
  }

  mutating func lay(_ change: OverlayChange, of mutation: MutationID) throws {
    if !pending.contains(mutation.value) { pending.append(mutation.value) }
    isHidden = change.action == .delete || (isHidden && change.action == .merge)
    if change.action == .delete { own = [:] }
    guard !isHidden else { return }
    for member in try JSONValue(parsing: change.fields).members ?? [] {
      own[member.name] = member.value.canonicalText
    }
  }

  /// Nil where the device sees none.
  var shown: [String: String]? {
    guard !pending.isEmpty else { return base }
    guard !isHidden else { return nil }
    var shown = (base ?? [:]).merging(own) { $1 }
    shown["$pending"] = JSONValue.array(pending.map(JSONValue.string)).canonicalText
    return shown
  }
}
