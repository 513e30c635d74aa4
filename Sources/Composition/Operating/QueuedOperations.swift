import Gateway
import Storage

/// How the mutations queued in a data folder fit the operations that a workspace has: what a start
/// with them would park.
enum QueuedOperations {
  /// - Returns: one line for each operation that queued mutations no longer fit.
  static func misfits(_ workspace: Workspace) throws(StorageError) -> [String] {
    let fit = OperationFit(registry: workspace.registry)
    var survey = OperationSurvey()
    for held in try Store.heldPayloads(folder: workspace.settings.dataFolder) {
      survey.note(held, fit: fit)
    }
    return survey.misfits.map { misfits in
      let mutations = misfits.count == 1 ? "1 queued mutation" : "\(misfits.count) queued mutations"
      return "\(misfits.operation): \(mutations) cannot be sent. \(misfits.detail)"
    }
  }
}
