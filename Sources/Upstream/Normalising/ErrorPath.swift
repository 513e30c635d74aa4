import LosslessJSON
import Model

/// The paths of a response's errors as a tree, so that a walk over the response can follow them.
final class ErrorPath {
  /// Maximum parts of one path. No response nests as deep; releasing a longer chain of nodes would
  /// overflow the stack.
  static let partsMax = JSONLimits.depthCeiling * 2
  /// Maximum nodes of all paths of a response.
  static let placesMax = 100_000

  private var names: [String: ErrorPath] = [:]
  private var indexes: [Int: ErrorPath] = [:]
  /// Whether an error's path ends here.
  private(set) var isEnd = false

  private init() {}

  /// What a response's errors mean for its data.
  enum Reading {
    /// No errors at all.
    case none
    /// Every error has a path.
    case paths(ErrorPath)
    /// Some error has no path: none of the data can be trusted.
    case anywhere
  }

  static func read(_ errors: JSONNode?) -> Reading {
    guard let errors, !errors.isEmpty else { return .none }
    let root = ErrorPath()
    var left = placesMax
    for error in errors.elements {
      guard let path = error["path"], path.kind == .array, root.add(path, left: &left) else {
        return .anywhere
      }
    }
    return .paths(root)
  }

  /// Reads the path of one error.
  static func read(of error: JSONNode) -> Reading {
    let root = ErrorPath()
    var left = placesMax
    guard let path = error["path"], path.kind == .array, root.add(path, left: &left) else {
      return .anywhere
    }
    return .paths(root)
  }

  /// - Parameter left: the number of nodes that can be added.
  private func add(_ path: JSONNode, left: inout Int) -> Bool {
    var place = self
    var parts = 0
    for element in path.elements {
      parts += 1
      left -= 1
      guard parts <= Self.partsMax, left >= 0 else { return false }
      if let name = element.string {
        place = place.names[name] ?? place.insert(name)
      } else if let index = element.int64.flatMap(Int.init(exactly:)) {
        place = place.indexes[index] ?? place.insert(index)
      } else {
        return false
      }
    }
    place.isEnd = true
    // An empty path would mean that everything failed.
    return place !== self
  }

  private func insert(_ name: String) -> ErrorPath {
    let child = ErrorPath()
    names[name] = child
    return child
  }

  private func insert(_ index: Int) -> ErrorPath {
    let child = ErrorPath()
    indexes[index] = child
    return child
  }

  /// Whether a path of the tree leads to or through this place.
  func leads(to path: ResponsePath) -> Bool {
    var place: ErrorPath? = self
    for part in path.parts {
      switch part {
      case .member(let name): place = place?.member(name)
      case .element(let index): place = place?.element(index)
      }
    }
    return place != nil
  }

  func member(_ name: String) -> ErrorPath? { names[name] }

  func element(_ index: Int) -> ErrorPath? { indexes[index] }

  var members: [String: ErrorPath] { names }

  var elements: [Int: ErrorPath] { indexes }
}

/// The position that an error below a field made null. Only nullable positions can be null, so an
/// error propagates to the nearest of them (specification, 6.4.4).
enum ErrorPlace {
  /// The field itself is null.
  case here
  /// An element of the field's list is null: the store does not keep a list with such a hole.
  case hole
  /// A position further inside is null.
  case below

  init(of error: ErrorPath, at field: Int, plan: NormalisationPlan) {
    if Self.isNull(error, field, plan, level: 0) {
      self = .here
    } else if Self.hasHole(error, field, plan, level: 0) {
      self = .hole
    } else {
      self = .below
    }
  }

  private static func isNull(
    _ error: ErrorPath, _ index: Int, _ plan: NormalisationPlan, level: Int
  ) -> Bool {
    if error.isEnd { return true }
    let field = plan.fields[index]
    if level < field.listDepth {
      return field.nonNull[level + 1]
        && error.elements.values.contains { isNull($0, index, plan, level: level + 1) }
    }
    guard let position = plan.inner[index] else { return false }
    return error.members.contains { name, error in
      plan.positions[position].objects.contains { object in
        plan.objects[object].fields.contains {
          plan.fields[$0].responseName == name && plan.fields[$0].nonNull[0]
            && isNull(error, $0, plan, level: 0)
        }
      }
    }
  }

  private static func hasHole(
    _ error: ErrorPath, _ index: Int, _ plan: NormalisationPlan, level: Int
  ) -> Bool {
    guard level < plan.fields[index].listDepth else { return false }
    return error.elements.values.contains {
      isNull($0, index, plan, level: level + 1) || hasHole($0, index, plan, level: level + 1)
    }
  }
}

/// The path of a value in a response, as in `errors[].path` and `stale`.
struct ResponsePath {
  enum Part: Hashable {
    case member(String)
    case element(Int)
  }

  private(set) var parts: [Part] = []

  mutating func push(_ part: Part) { parts.append(part) }

  mutating func pop() { parts.removeLast() }

  /// `film.cast.0.name`, for logs and reports.
  var text: String {
    parts.map { part in
      switch part {
      case .member(let name): name
      case .element(let index): String(index)
      }
    }.joined(separator: ".")
  }

  func write(to writer: inout JSONWriter) {
    writer.beginArray()
    for part in parts {
      switch part {
      case .member(let name): writer.string(name)
      case .element(let index): writer.int(index)
      }
    }
    writer.endArray()
  }
}
