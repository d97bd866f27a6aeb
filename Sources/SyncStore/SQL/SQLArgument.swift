package import Foundation

/// A value bound in a statement, in the few kinds that all databases have.
package enum SQLArgument: Sendable, Hashable {
    case null
    case integer(Int64)
    case double(Double)
    case text(String)
    case bytes(Data)
}
