import SyncCore

/// The reports of payload graphs: counts, diagnostics and unmapped keys.
struct MappingReports: Equatable {
    var records = 0
    var readableRecords = 0
    var diagnostics: [SyncDiagnostic] = []
    var unmappedKeys: [String: Int] = [:]

    mutating func add(_ plan: PayloadGraph) {
        records += plan.rootRecords
        readableRecords += plan.readableRootRecords
        diagnostics += plan.diagnostics
        for key in plan.unmappedKeys { unmappedKeys["\(key.entity ?? "") \(key.path)", default: 0] += key.count }
    }
}
