import Filtering
import Gateway
import Model
import Upstream

/// The indexes that settings ask for, by the type whose table has them: a key path needs one on each
/// reference that it follows, and one on its last field; through a union or an interface the same for each
/// type that has the field.
struct IndexPlan {
  private let graph: EntityGraph
  private(set) var columns: [String: [String]] = [:]
  private(set) var texts: [String: [EntityType.TextIndex]] = [:]

  init(_ graph: EntityGraph) {
    self.graph = graph
  }

  /// Adds an entry of `types.<Type>.index`.
  ///
  /// - Returns: why it cannot be used; nil if it can.
  mutating func add(_ text: String, of type: EntityType) -> String? {
    guard let declaration = IndexDeclaration(text) else {
      return "\(text) is not a field or a key path, such as year, maker.lastName or title[cd]"
    }
    do throws(EntityOrderFaults) {
      for found in try graph.columns(declaration.names, of: type) {
        if let fault = add(found.path, found.column, declaration.form, of: type, text) {
          return fault
        }
      }
      return nil
    } catch {
      return error.messages.joined(separator: "; ")
    }
  }

  private mutating func add(
    _ path: EntityPath, _ column: EntityType.Column, _ form: EntityType.TextIndex.Form?,
    of type: EntityType, _ text: String
  ) -> String? {
    var owner = type.name
    var fields: [(owner: String, field: String)] = []
    for hop in path.hops {
      fields.append((owner, hop.field))
      owner = hop.target
    }
    guard let form else {
      add(fields + [(owner, path.field)])
      return nil
    }
    guard column.kind == .text, column.dates == nil else {
      return "\(text) is not about a text field: only texts are compared without case or diacritics"
    }
    add(fields)
    let index = EntityType.TextIndex(column: path.field, form: form)
    if texts[owner]?.contains(index) != true { texts[owner, default: []].append(index) }
    return nil
  }

  private mutating func add(_ fields: [(owner: String, field: String)]) {
    for (owner, field) in fields where columns[owner]?.contains(field) != true {
      columns[owner, default: []].append(field)
    }
  }
}

extension OperationRegistry {
  /// Returns the same operations with indexes on the types of the catalogue.
  func adding(_ plan: IndexPlan) -> OperationRegistry {
    with(
      types: catalogue.types.map {
        $0.adding(indexes: plan.columns[$0.name] ?? [], textIndexes: plan.texts[$0.name] ?? [])
      })
  }
}
