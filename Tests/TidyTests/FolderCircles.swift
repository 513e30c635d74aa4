/// The references between the folders of one tree of Swift files, by the types that they name.
///
/// Files at the top of the tree belong to no folder and are left out.
struct FolderCircles {
  /// The references from one folder to another.
  private struct Tie: Hashable {
    let from: String
    let to: String
  }

  let folders: [String]
  /// For each tie the types, each with a file that names it.
  private var ties: [Tie: [String: String]] = [:]

  /// - Parameter files: each with its path from the top of the tree.
  init(_ files: [(path: String, text: String)]) {
    var sources: [(folder: String, name: String, references: TypeReferences)] = []
    for file in files {
      let parts = file.path.split(separator: "/")
      guard parts.count > 1, let name = parts.last else { continue }
      sources.append((String(parts[0]), String(name), TypeReferences(file.text)))
    }
    folders = Set(sources.map(\.folder)).sorted()
    var places: [String: String] = [:]
    for source in sources {
      for type in source.references.declared { places[type] = source.folder }
    }
    for source in sources {
      for type in source.references.named {
        guard let place = places[type], place != source.folder else { continue }
        ties[Tie(from: source.folder, to: place), default: [:]][type] = source.name
      }
    }
  }

  /// The largest set of folders each of which refers to all others, directly or through others;
  /// empty if there is no circle.
  var largest: [String] {
    var reached: [String: Set<String>] = [:]
    for folder in folders {
      var seen: Set<String> = []
      var rest = [folder]
      while let next = rest.popLast() {
        for tie in ties.keys where tie.from == next && seen.insert(tie.to).inserted {
          rest.append(tie.to)
        }
      }
      reached[folder] = seen
    }
    let circles = folders.map { folder in
      folders.filter {
        reached[folder, default: []].contains($0) && reached[$0, default: []].contains(folder)
      }
    }
    return circles.max { $0.count < $1.count } ?? []
  }

  /// The ties within a circle, the thinnest first: the one of the fewest types is usually the one to
  /// cut.
  func ties(within circle: [String]) -> [String] {
    ties.filter { circle.contains($0.key.from) && circle.contains($0.key.to) }
      .sorted {
        ($0.value.count, $0.key.from, $0.key.to) < ($1.value.count, $1.key.from, $1.key.to)
      }
      .map { tie, types in
        let named = types.sorted { $0.key < $1.key }.prefix(8).map { "\($0.key) in \($0.value)" }
        let more = types.count > 8 ? " and \(types.count - 8) more" : ""
        return "\(tie.from) names \(named.joined(separator: ", "))\(more) of \(tie.to)"
      }
  }
}
