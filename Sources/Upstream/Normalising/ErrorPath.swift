import LosslessJSON

/// The paths of an answer's errors as a tree, so that a walk over the answer meets them on its way.
final class ErrorPath {
  /// Parts of one path. No response nests as deep; a longer path would be a chain of places that
  /// ends the process's stack when it goes.
  static let partsMax = JSONLimits.depthCeiling * 2
  /// Places of all paths of a response: as many errors as anybody reads.
  static let placesMax = 100_000

  private var names: [String: ErrorPath] = [:]
  private var indexes: [Int: ErrorPath] = [:]
  /// An error ends here.
  private(set) var isEnd = false

  private init() {}

  /// What an answer's errors say of its data.
  enum Reading {
    /// No errors at all.
    case none
    /// Every error says where it happened.
    case paths(ErrorPath)
    /// Some error has no path: nothing of the data can be trusted.
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

  /// The path of one error.
  static func read(of error: JSONNode) -> Reading {
    let root = ErrorPath()
    var left = placesMax
    guard let path = error["path"], path.kind == .array, root.add(path, left: &left) else {
      return .anywhere
    }
    return .paths(root)
  }

  /// - Parameter left: places that there is room for.
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
    // An empty path would say that all of it failed.
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

  /// Whether some path of the tree leads through this place, or to it.
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
