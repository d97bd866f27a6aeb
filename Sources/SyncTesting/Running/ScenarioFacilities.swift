public import SyncCore

/// What a ``ScenarioRunner`` provides of the things cases can ask for in `needs`.
///
/// A case that needs anything else is skipped and counted.
public struct ScenarioFacilities: Sendable {
    /// The names of the needs that are met: `onDisk`, `valueTransformer:NAME`.
    public private(set) var names: Set<String>
    /// The transformers that are registered on every model.
    let transformers: [AttributeTransformer]

    /// Facilities that meet exactly these needs, and those for these transformers.
    public init(names: Set<String>, transformers: [AttributeTransformer] = []) {
        self.names = names.union(transformers.map { "valueTransformer:\($0.name)" })
        self.transformers = transformers
    }

    /// What the runner brings without code of the caller.
    public static let standard = ScenarioFacilities(names: [
        backgroundWrite, concurrency, insertionOrder, onDisk, operationObject, willInsertHook, writeCounter,
    ])

    /// These facilities and transformers of the caller, which are registered on every model.
    public func adding(_ transformers: AttributeTransformer...) -> ScenarioFacilities {
        ScenarioFacilities(names: names, transformers: self.transformers + transformers)
    }

    /// Writes happen in a background task on a store file, whose readers are connections of their own.
    static let backgroundWrite = "backgroundWrite"
    /// All cases of the group are evaluated many times in parallel.
    static let concurrency = "concurrency"
    static let insertionOrder = "insertionOrder"
    /// The case runs on a store file.
    static let onDisk = "onDisk"
    /// Syncs run in a task that could be cancelled.
    static let operationObject = "operationObject"
    /// Syncs call a hook that adds the keys of the case's `hook` to every record about to be inserted.
    static let willInsertHook = "willInsertHook"
    /// The rows written by a step are counted.
    static let writeCounter = "writeCounter"

    private static let builtIn = Set(BuiltInTransformer.allCases.map { "valueTransformer:\($0.rawValue)" })

    /// The needs that are not met, in their order. Built-in transformers are there anyway.
    public func missing(of needs: [String]) -> [String] {
        needs.filter { !names.contains($0) && !Self.builtIn.contains($0) }
    }
}
