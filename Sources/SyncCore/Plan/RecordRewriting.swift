/// Shows a hook the records that become new rows, outer ones first, and maps the payload again with its answers.
///
/// Only the store knows which rows are new. So it is asked after each mapping, until the hook has seen them all.
package struct RecordRewriting: Sendable {
    typealias Hook = @Sendable (SyncOptions.Insertion) throws -> JSONValue

    typealias Mapping = @Sendable ([JSONValue]) throws -> ChangePlan

    let map: Mapping
    /// Maps the payload in its last form, where a value that does not fit is an error.
    let mapStrictly: Mapping?
    let model: SyncModel
    let hook: Hook
    var records: [JSONValue]
    /// Where answers of the hook stand.
    var settled: Set<RecordPath> = []

    init(
        _ records: [JSONValue], of model: SyncModel, hook: @escaping Hook, map: @escaping Mapping, mapStrictly: Mapping?
    ) {
        self.records = records
        self.model = model
        self.hook = hook
        self.map = map
        self.mapStrictly = mapStrictly
    }

    /// The plan, once the hook has seen all new rows.
    package func settled(_ plan: ChangePlan) throws -> ChangePlan { try mapStrictly?(records) ?? plan }
}
