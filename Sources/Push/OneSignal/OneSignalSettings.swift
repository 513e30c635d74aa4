/// Which application at OneSignal this service sends for.
package struct OneSignalSettings: Sendable {
  package let api: OneSignalAPI
  /// Without a slash at the end.
  package let base: String
  package let appID: String
  let key: String

  /// - Parameter url: where the interface is asked; nil for OneSignal's own address.
  package init(api: OneSignalAPI, url: String? = nil, appID: String, key: String) {
    self.api = api
    self.appID = appID
    self.key = key
    var base = url ?? api.url
    while base.hasSuffix("/") { base.removeLast() }
    self.base = base
  }
}
