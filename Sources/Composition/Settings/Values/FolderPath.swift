/// Paths by their letters alone: joining and comparing, no look at the disk.
enum FolderPath {
  /// - Parameter folder: where a relative path starts: the settings file's own folder.
  static func resolve(_ path: String, in folder: String) throws(ValueRefusal) -> String {
    guard !path.isEmpty else { throw ValueRefusal("it is empty") }
    guard !path.unicodeScalars.contains(where: { $0.value == 0 }) else {
      throw ValueRefusal("a path holds no NUL")
    }
    if path.hasPrefix("/") { return path }
    var rest = path[...]
    while rest.hasPrefix("./") { rest = rest.dropFirst(2) }
    return rest.isEmpty || rest == "." ? folder : "\(folder)/\(rest)"
  }

  /// The folder a file lies in, `.` for a bare name.
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Whether `path` is `folder` or lies under it, with `.` and `..` taken out of both first.
  static func isInside(_ path: String, _ folder: String) -> Bool {
    components(path).starts(with: components(folder))
  }

  private static func components(_ path: String) -> [Substring] {
    var parts: [Substring] = path.hasPrefix("/") ? ["/"] : []
    for part in path.split(separator: "/") where part != "." {
      if part == "..", let last = parts.last, last != "..", last != "/" {
        parts.removeLast()
      } else {
        parts.append(part)
      }
    }
    return parts
  }
}
