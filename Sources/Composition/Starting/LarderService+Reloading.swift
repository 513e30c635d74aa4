import Cluster
import Gateway
import HTTPServer
import Logging
import Model

/// The end of a reload.
enum ReloadOutcome: Sendable {
  /// The new operations and settings are served.
  case applied(ReloadPause)
  /// The service could not open with the new ones, as the log says, and serves the former ones again.
  case reverted(ReloadPause)
  /// Nothing was changed, because the store could not be opened again; the reason.
  case refused(String)
  /// The process ends, with the new deployment or without one.
  case ended
}

/// What callers have noticed of a reload.
struct ReloadPause: Sendable {
  /// How long requests have waited at most.
  let time: Duration
  /// Requests that took longer than `drain.deadline`, whose connections were reset.
  let cutOff: Int
}

/// Reloading: one deployment is closed and the next one opened on the same data folder, while sockets and
/// connections stay open and requests wait.
extension LarderService {
  /// How long requests in progress have until streams end: one that opens a stream would otherwise be
  /// refused, since the service seems to end.
  private static let streamStartMax = Duration.milliseconds(20)

  /// Serves a workspace in place of the one that is served. Its settings must agree in everything that stays
  /// until a restart, see ``SettingsUntilRestart``.
  ///
  /// Returns early, and the reload goes on, if the task is cancelled: the end of the process must not wait
  /// for a reload before it drains.
  func reload(to workspace: Workspace) async -> ReloadOutcome {
    guard !Task.isCancelled, let old = deployments.beginReload() else { return .ended }
    if let reason = old.reasonToStayOpen {
      deployments.endReload(.success(old))
      return .refused(reason)
    }
    let replacing = Task.detached { await self.replace(old, by: workspace) }
    await deployments.waitForReload(isPatient: false)
    return Task.isCancelled ? .ended : await replacing.value
  }

  private func replace(_ old: Deployment, by workspace: Workspace) async -> ReloadOutcome {
    old.prepareToEnd()
    let deadline = old.workspace.settings.drain.deadline
    let start = ContinuousClock.now
    await server.hold()
    try? await Task.sleep(for: Self.streamStartMax)
    old.endStreams()
    // A node that is to lead must not wait for requests that wait for the next leader: it passes them on to itself.
    let late = await server.waitForResponses(
      atMost: deadline, except: { [share] in share.cluster?.link.waitingCount ?? 0 })
    await old.close(queueEndMax: deadline)
    await runErrand()
    let (next, fault) = await opened(workspace, orElse: old.workspace)
    if let next {
      await server.serve(with: ServerAssembly.handlers(of: next, s3Count: s3ListenerCount))
    }
    let pause = ReloadPause(time: ContinuousClock.now - start, cutOff: late)
    next?.start()
    guard let next else {
      let failure = fault ?? StartFailure(.dataFolder, "The service could not be opened again.")
      deployments.endReload(.failure(failure))
      return .ended
    }
    deployments.endReload(.success(next))
    return fault == nil ? .applied(pause) : .reverted(pause)
  }

  /// Does what a node of a cluster has to do while its data folder is free.
  private func runErrand() async {
    guard let node = share.cluster, let errand = node.takeErrand() else { return }
    do {
      switch errand {
      case .release(let lease, let heir): try await node.backend.release(lease, to: heir)
      case .replaceDatabase(let aside):
        try SnapshotPlacing(node: node).place(keepingAhead: aside)
      }
    } catch {
      logger.error("between two parts in the cluster", metadata: ["cause": "\(error)"])
    }
  }

  /// Opens a workspace, or the former one if that fails.
  ///
  /// - Returns: the fault of the first if the former one is open, and of the last if neither is.
  private func opened(
    _ workspace: Workspace, orElse former: Workspace
  ) async -> (Deployment?, StartFailure?) {
    do throws(StartFailure) {
      return (try await open(workspace), nil)
    } catch {
      let fault = error
      logger.error(
        "the service could not be opened with the new operations and settings; the former ones are tried",
        metadata: ["reason": "\(fault)"])
      // A leader that cannot open its store is none.
      share.cluster?.become(.replica)
      do throws(StartFailure) {
        return (try await open(former), fault)
      } catch {
        guard let deployment = await openedOnceItHasTables(former) else { return (nil, error) }
        return (deployment, fault)
      }
    }
  }

  /// Opens a node's workspace whose tables the database does not have, as after a snapshot of other operations,
  /// once a leader has made them or this node leads.
  ///
  /// - Returns: nil if there is another reason why it cannot be opened.
  private func openedOnceItHasTables(_ workspace: Workspace) async -> Deployment? {
    guard let start = share.cluster.map({ ClusterStart($0, workspace) }) else { return nil }
    while !deployments.isEnding, (try? start.missingTables()) != nil {
      do {
        try await start.run()
        return try await open(workspace)
      } catch {
        logger.error("the node cannot go on yet", metadata: ["cause": "\(error)"])
        try? await Task.sleep(for: .milliseconds(200))
      }
    }
    return nil
  }
}
