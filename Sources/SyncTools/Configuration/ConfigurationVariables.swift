import SyncCore
import SyncService

/// The values of `${NAME}` while a configuration is read, and those that were wanted and are not set.
final class ConfigurationVariables {
    let values: [String: String]
    private let areNeeded: Bool
    /// One for each member, with its path.
    private(set) var unset: [SyncError] = []

    /// - Parameter areNeeded: Whether one that is not set is an error at once.
    init(_ values: [String: String], areNeeded: Bool) { (self.values, self.areNeeded) = (values, areNeeded) }

    func note(_ error: SyncError) throws {
        if areNeeded { throw error }
        unset.append(error)
    }
}
