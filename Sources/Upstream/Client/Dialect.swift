/// The kinds of server the client knows the habits of.
package enum Dialect: String, Hashable, Sendable, CaseIterable {
  case plain
  case hasura
  case appsync
}
