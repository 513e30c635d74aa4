extension DocumentSurvey {
  /// No fragment spreads itself, directly or through others (5.5.2.2). The search keeps its own
  /// stack, so that a long chain of fragments cannot exhaust the thread's.
  func noFragmentCycles() -> [Fault] {
    var finished = Set<String>()
    return fragments.map(\.definition.name.value)
      .flatMap { cycles(from: $0, finished: &finished) }
  }

  private func cycles(from root: String, finished: inout Set<String>) -> [Fault] {
    var faults: [Fault] = []
    var path: [(name: String, remaining: ArraySlice<FragmentSpread>)] = []
    /// The spread that leads on from each fragment of the path.
    var spreads: [FragmentSpread] = []
    var depthByName: [String: Int] = [:]
    func enter(_ name: String) {
      guard finished.insert(name).inserted, let fragment = fragmentsByName[name] else { return }
      depthByName[name] = path.count
      path.append((name, fragment.survey.spreads.map(\.spread)[...]))
    }
    enter(root)
    while let last = path.last {
      guard let spread = last.remaining.first else {
        depthByName[last.name] = nil
        path.removeLast()
        _ = spreads.popLast()
        continue
      }
      path[path.count - 1].remaining.removeFirst()
      if let start = depthByName[spread.name.value] {
        faults.append(cycleFault(Array(spreads[start...]) + [spread]))
      } else {
        let depth = path.count
        enter(spread.name.value)
        if path.count > depth { spreads.append(spread) }
      }
    }
    return faults
  }

  private func cycleFault(_ cycle: [FragmentSpread]) -> Fault {
    let name = cycle.last?.name.value ?? ""
    let via = cycle.dropLast().map { "\"\($0.name)\"" }.joined(separator: ", ")
    return Fault(
      .noFragmentCycles,
      "Cannot spread fragment \"\(name)\" within itself" + (via.isEmpty ? "." : " via \(via)."),
      at: cycle.map(\.location))
  }
}
