/// What a ``ScenarioRunner`` provides of the things cases can ask for in `needs`.
///
/// A case that needs anything else is skipped and counted.
public struct ScenarioFacilities: Sendable, Hashable {
    /// The names of the needs that are met: `onDisk`, `valueTransformer:NAME`.
    public var names: Set<String>

    /// Facilities that meet exactly these needs.
    public init(names: Set<String>) { self.names = names }

    /// What the runner brings without code of the caller.
    public static let standard = ScenarioFacilities(names: [
        backgroundWrite, concurrency, insertionOrder, onDisk, operationObject, writeCounter,
    ])

    /// Writes happen in a background task on a store file, whose readers are connections of their own.
    static let backgroundWrite = "backgroundWrite"
    /// All cases of the group are evaluated many times in parallel.
    static let concurrency = "concurrency"
    static let insertionOrder = "insertionOrder"
    /// The case runs on a store file.
    static let onDisk = "onDisk"
    /// Syncs run in a task that could be cancelled.
    static let operationObject = "operationObject"
    /// The rows written by a step are counted.
    static let writeCounter = "writeCounter"

    /// The needs that are not met, in their order.
    public func missing(of needs: [String]) -> [String] {
        needs.filter { !names.contains($0) }
    }
}
