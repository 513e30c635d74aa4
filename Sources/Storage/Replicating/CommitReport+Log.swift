import Model

/// Reports in log rows, so that a replica drops the same responses and wakes the same readers as the leader.
extension CommitReport {
  func write(to log: inout LogWriter) {
    log.signed(revision?.value ?? -1)
    log.signed(head.value)
    log.flag(resultChanged)
    log.flag(mayBeDue)
    log.count(changes.count)
    for change in changes {
      change.scope.write(to: &log)
      change.key.write(to: &log)
    }
    log.count(invalidated.count)
    for target in invalidated { target.write(to: &log) }
    log.flag(changedResult != nil)
    if let changedResult {
      log.text(changedResult.operation)
      log.text(changedResult.variables)
      changedResult.scope.write(to: &log)
    }
    log.count(overlays.count)
    for overlay in overlays {
      log.text(overlay.device)
      overlay.key.write(to: &log)
      log.flag(overlay.isLaid)
    }
  }

  /// Reads a report. It is never exact, since no upstream response stands beside it; and it counts no events
  /// for hooks, which only the leader delivers.
  init(from log: inout LogReader) throws(LogFault) {
    let revision = try log.signed()
    let head = try log.signed()
    let (resultChanged, mayBeDue) = (try log.flag(), try log.flag())
    var changes: [Change] = []
    for _ in 0..<(try log.count()) {
      changes.append(Change(scope: try Scope(from: &log), key: try EntityKey(from: &log)))
    }
    var invalidated: [InvalidationTarget] = []
    for _ in 0..<(try log.count()) { invalidated.append(try InvalidationTarget(from: &log)) }
    var changedResult: ResultKey?
    if try log.flag() {
      changedResult = ResultKey(
        operation: try log.text(), variables: try log.text(), scope: try Scope(from: &log))
    }
    var overlays: [Overlay] = []
    for _ in 0..<(try log.count()) {
      overlays.append(
        Overlay(device: try log.text(), key: try EntityKey(from: &log), isLaid: try log.flag()))
    }
    self.init(
      revision: revision < 0 ? nil : Revision(revision), changes: changes, invalidated: invalidated,
      resultChanged: resultChanged, changedResult: changedResult, isExact: false,
      mayBeDue: mayBeDue, head: Revision(head), overlays: overlays)
  }
}

extension Scope {
  fileprivate func write(to log: inout LogWriter) {
    log.byte(UInt8(kind.rawValue))
    log.text(subject)
    log.text(partition)
  }

  fileprivate init(from log: inout LogReader) throws(LogFault) {
    let number = Int(try log.byte())
    guard let kind = Kind(rawValue: number) else {
      throw .malformed("a scope has the unknown kind \(number)")
    }
    self.init(kind: kind, subject: try log.text(), partition: try log.text())
  }
}

extension EntityKey {
  fileprivate func write(to log: inout LogWriter) {
    log.text(type)
    log.text(key)
  }

  fileprivate init(from log: inout LogReader) throws(LogFault) {
    self.init(type: try log.text(), key: try log.text())
  }
}

extension InvalidationTarget {
  fileprivate func write(to log: inout LogWriter) {
    switch self {
    case .entity(let key):
      log.byte(0)
      key.write(to: &log)
    case .type(let name):
      log.byte(1)
      log.text(name)
    case .operation(let name):
      log.byte(2)
      log.text(name)
    case .tag(let name):
      log.byte(3)
      log.text(name)
    }
  }

  fileprivate init(from log: inout LogReader) throws(LogFault) {
    switch try log.byte() {
    case 0: self = .entity(try EntityKey(from: &log))
    case 1: self = .type(try log.text())
    case 2: self = .operation(try log.text())
    case 3: self = .tag(try log.text())
    case let kind: throw .malformed("a target has the unknown kind \(kind)")
    }
  }
}
