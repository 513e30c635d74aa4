/// Which certificates serve which names.
struct TLSNamePlan: Equatable {
  /// Certificates offered together, by their index, each of another kind of key. The first group is
  /// for clients that ask for no name, or for an unknown one.
  private(set) var groups: [[Int]]
  /// By name, wildcards as they are written.
  private(set) var groupByName: [String: Int] = [:]

  init(_ certificates: [TLSCertificateFacts]) {
    groups = [
      Self.group(of: certificates) { index in
        index == 0 || !Set(certificates[0].names).isDisjoint(with: certificates[index].names)
      }
    ]
    for name in Set(certificates.flatMap(\.names)).sorted() {
      let group = Self.group(of: certificates) { certificates[$0].names.contains(name) }
      if let known = groups.firstIndex(of: group) {
        groupByName[name] = known
      } else {
        groupByName[name] = groups.count
        groups.append(group)
      }
    }
  }

  /// Those that `serves` is true of, the first of each kind of key.
  private static func group(
    of certificates: [TLSCertificateFacts], where serves: (Int) -> Bool
  ) -> [Int] {
    var kinds: Set<TLSCertificateFacts.KeyKind> = []
    return certificates.indices.filter { index in
      serves(index) && kinds.insert(certificates[index].keyKind).inserted
    }
  }
}
