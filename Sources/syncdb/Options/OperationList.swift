import ArgumentParser
import Sync

/// `--operations insert,update`.
struct OperationList: ExpressibleByArgument {
    let value: SyncOperations

    static let names = SyncOperations.names.map(\.name).joined(separator: ", ")

    init(value: SyncOperations) { self.value = value }

    init?(argument: String) {
        var value: SyncOperations = []
        for name in argument.filter({ $0 != " " }).split(separator: ",", omittingEmptySubsequences: false) {
            let operation = SyncOperations.names.first { $0.name == name }?.operation
            guard let operation = operation ?? (name == "all" ? .all : nil) else { return nil }
            value.formUnion(operation)
        }
        self.value = value
    }

    var defaultValueDescription: String { "all" }

    static var allValueStrings: [String] { SyncOperations.names.map(\.name) + ["all"] }
}
