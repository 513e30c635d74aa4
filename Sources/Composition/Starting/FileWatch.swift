import Transport

/// Reports changes of a workspace's files, by looking at their versions a few times a second.
///
/// Looking works on all file systems, also on those of other machines and of containers' hosts, whose
/// changes inotify(7) does not report; it needs no descriptor for each folder, and it does not matter whether
/// an editor writes a file or renames another one to its name.
struct FileWatch: Sendable {
  /// The pause between two looks.
  static let pauseMin = Duration.milliseconds(250)
  /// A look takes at most this part of the time.
  private static let share = 20

  let pool: BlockingPool
  /// Returns the files of the workspace that is served.
  let files: @Sendable () -> WorkspaceFiles

  /// Runs until cancelled.
  ///
  /// - Parameter first: the versions at the time that the workspace was read.
  func run(from first: [String: FileVersion], report: () async -> Void) async {
    var debounce = ChangeDebounce(first)
    var pause = Self.pauseMin
    while !Task.isCancelled {
      do { try await Task.sleep(for: pause) } catch { return }
      let start = ContinuousClock.now
      let versions = await pool.run { [files] in files().versions() }
      pause = max(Self.pauseMin, (ContinuousClock.now - start) * Self.share)
      if debounce.note(versions) { await report() }
    }
  }
}

/// The decision when a change is complete: files are saved one after the other, and a file can be read while
/// it is half written.
struct ChangeDebounce<State: Equatable> {
  /// Looks after which a change is reported although each found another state.
  private static var looksMax: Int { 8 }

  private var reported: State
  private var last: State
  private var looks = 0

  init(_ first: State) {
    reported = first
    last = first
  }

  /// Notes a look.
  ///
  /// - Returns: whether to report a change: the state is another than that of the last report, and the same
  ///   as in the look before, or it has changed for too long.
  mutating func note(_ state: State) -> Bool {
    defer { last = state }
    guard state != reported else {
      looks = 0
      return false
    }
    looks += 1
    guard state == last || looks >= Self.looksMax else { return false }
    looks = 0
    reported = state
    return true
  }
}
