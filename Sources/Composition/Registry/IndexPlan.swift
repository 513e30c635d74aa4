import Filtering
import Gateway
import Model
import Upstream

/// The indexes that settings ask for, by the type whose table has them: a key path needs one on each
/// reference that it follows, and one on its last field.
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
    let found: (path: EntityPath, column: EntityType.Column)
    do throws(EntityOrderFaults) {
      found = try graph.column(declaration.names, of: type)
    } catch {
      return error.messages.joined(separator: "; ")
    }
    var owner = type.name
    var fields: [(owner: String, field: String)] = []
    for hop in found.path.hops {
      fields.append((owner, hop.field))
      owner = hop.target
    }
    if declaration.form == nil { fields.append((owner, found.path.field)) }
    guard let form = declaration.form else {
      add(fields)
      return nil
    }
    guard found.column.kind == .text, found.column.dates == nil else {
      return "\(text) is not about a text field: only texts are compared without case or diacritics"
    }
    add(fields)
    let index = EntityType.TextIndex(column: found.path.field, form: form)
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
