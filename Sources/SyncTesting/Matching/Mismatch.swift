import Foundation

/// One expectation that is not met: where, what it says, what there is.
struct Mismatch: LocalizedError, Hashable {
    /// The path of attributes and relationships: `company.name`.
    var path: String
    var expected: String
    var found: String

    var errorDescription: String? { "\(path): expected \(expected), found \(found)" }
}
