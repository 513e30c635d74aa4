import Cryptography
import FoundationEssentials
import Gateway
import Logging
import Model
import Synchronization
import Transport
import Upstream

/// Reads settings, schemas and operations again and puts them into service, if they are sound.
final class Reloader: Sendable {
  /// Operations that a log line names of each kind.
  private static let namesMax = 20

  private struct State {
    var workspace: Workspace
    /// Of the files that are served.
    var digests: [String: SHA256.Digest]
    /// Whether the last reload was refused or reverted.
    var hasFailed = false
    /// The settings whose need of a restart was logged last.
    var namesUntilRestart: [String] = []
  }

  private let settingsFile: String?
  /// Reads the settings from all their sources.
  private let read: @Sendable () throws -> LoadedSettings
  private let service: LarderService
  private let logger: Logger
  private let logThreshold: LogThreshold
  /// Prints faults as `larder check` does.
  private let print: @Sendable (String) -> Void
  private let state: Mutex<State>

  /// - Parameters:
  ///   - settingsFile: nil for the default name.
  ///   - workspace: the one in service.
  ///   - digests: of its files, from before they were read.
  ///   - read: throws ``StartFailure`` with all faults.
  ///   - print: writes faults to the log, one on each line.
  init(
    settingsFile: String?, workspace: Workspace, digests: [String: SHA256.Digest],
    service: LarderService, logThreshold: LogThreshold, logger: Logger,
    read: @escaping @Sendable () throws -> LoadedSettings,
    print: @escaping @Sendable (String) -> Void
  ) {
    self.settingsFile = settingsFile
    self.read = read
    self.service = service
    self.logger = logger
    self.logThreshold = logThreshold
    self.print = print
    state = Mutex(State(workspace: workspace, digests: digests))
  }

  /// The files of the workspace in service.
  var files: WorkspaceFiles { WorkspaceFiles(settingsFile: settingsFile, workspace.settings) }

  private var workspace: Workspace { state.withLock { $0.workspace } }

  /// Reads the files, and serves what they say if it is different and without faults. Not to be called
  /// again before it has returned.
  ///
  /// - Parameter isAsked: whether an operator waits for a line in the log.
  func reload(isAsked: Bool) async {
    let running = workspace
    let files = files
    let digests = await service.blockingPool.run { files.digests() }
    let (isServed, hasFailed) = state.withLock { ($0.digests == digests, $0.hasFailed) }
    if isServed {
      state.withLock { $0.hasFailed = false }
      let isNews = isAsked || hasFailed
      return logger.log(
        level: isNews ? .notice : .debug, "operations and settings are those in service already")
    }
    do {
      let (next, nextDigests) = try await load(beside: running, digests)
      await serve(next, nextDigests, in: running)
    } catch let failure as StartFailure {
      refuse(failure)
    } catch {
      refuse(StartFailure(.faultySettings, "\(error)"))
    }
  }

  /// Reads and checks everything.
  ///
  /// - Parameter digests: of the files of the workspace in service, from before this call.
  /// - Returns: also digests of the files of the new workspace, none of a later content than was read.
  private func load(
    beside running: Workspace, _ digests: [String: SHA256.Digest]
  ) async throws -> (Workspace, [String: SHA256.Digest]) {
    let (loaded, names) = try read().keepingUntilRestart(
      of: running.settings, servesS3: service.s3ListenerCount > 0)
    warn(ofRestart: names)
    let files = WorkspaceFiles(settingsFile: settingsFile, loaded.settings)
    try await SchemaPull(loaded.settings).keepIfMissing()
    return try await service.blockingPool.run { () throws(StartFailure) in
      var own = files.digests()
      // Read before.
      own[files.settingsFile] = digests[files.settingsFile]
      return (try Workspace.open(loaded, describesInterface: true), own)
    }
  }

  private func serve(
    _ next: Workspace, _ digests: [String: SHA256.Digest], in running: Workspace
  ) async {
    logNotes(of: next, after: running)
    switch await service.reload(to: next) {
    case .applied(let pause):
      state.withLock { state in
        state.workspace = next
        state.digests = digests
        state.hasFailed = false
      }
      if next.settings.log.level != running.settings.log.level {
        logThreshold.level = LogThreshold(next.settings.log).level
      }
      service.note(.applied)
      logger.notice(
        "operations and settings reloaded",
        metadata: metadata(of: WorkspaceDifference(from: running, to: next), next, pause))
    case .reverted(let pause):
      state.withLock { $0.hasFailed = true }
      service.note(.reverted)
      logger.error(
        "operations and settings were not reloaded: the former ones are served again",
        metadata: pause.metadata)
    case .refused(let reason):
      state.withLock { $0.hasFailed = true }
      service.note(.refused)
      logger.error(
        "operations and settings cannot be reloaded: the former ones stay in service until a restart",
        metadata: ["reason": "\(reason)"])
    case .ended:
      break
    }
  }

  private func refuse(_ failure: StartFailure) {
    state.withLock { $0.hasFailed = true }
    service.note(.refused)
    logger.error("operations and settings were not reloaded: the former ones stay in service")
    print(failure.description)
  }

  // MARK: Log

  private func warn(ofRestart names: [String]) {
    let isNews = state.withLock { state in
      defer { state.namesUntilRestart = names }
      return state.namesUntilRestart != names
    }
    guard isNews, !names.isEmpty else { return }
    logger.warning(
      "changed settings that a reload leaves as they are: restart the service to apply them",
      metadata: ["settings": "\(names.joined(separator: ", "))"])
  }

  /// Logs the notes and warnings that the workspace in service does not have.
  private func logNotes(of next: Workspace, after running: Workspace) {
    let knownNotes = Set(running.loaded.notes)
    for note in next.loaded.notes where !knownNotes.contains(note) { logger.notice("\(note)") }
    let knownWarnings = Set(running.warnings)
    for warning in next.warnings where !knownWarnings.contains(warning) {
      logger.warning("\(warning)")
    }
  }

  private func metadata(
    of difference: WorkspaceDifference, _ next: Workspace, _ pause: ReloadPause
  ) -> Logger.Metadata {
    var metadata = pause.metadata
    metadata["operations"] = .stringConvertible(next.registry.operations.count)
    for (name, members) in [
      ("added", difference.added), ("removed", difference.removed),
      ("changed", difference.changed), ("settings", difference.settings),
    ] where !members.isEmpty {
      let others = members.count - Self.namesMax
      let shown = members.prefix(Self.namesMax).joined(separator: ", ")
      metadata[name] = others > 0 ? "\(shown) and \(others) more" : "\(shown)"
    }
    return metadata
  }
}

extension ReloadPause {
  fileprivate var metadata: Logger.Metadata {
    var metadata: Logger.Metadata = ["pause": "\(time.milliseconds)ms"]
    if cutOff > 0 { metadata["cutOff"] = .stringConvertible(cutOff) }
    return metadata
  }
}
