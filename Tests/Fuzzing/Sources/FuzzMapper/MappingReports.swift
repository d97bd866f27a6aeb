import SyncCore

/// The reports of payload graphs: counts, diagnostics and unmapped keys.
struct MappingReports: Equatable {
    var records = 0
    var readableRecords = 0
    var diagnostics: [SyncDiagnostic] = []
    var unmappedKeys: [String: Int] = [:]

    mutating func add(_ graph: PayloadGraph) {
        records += graph.rootRecords
        readableRecords += graph.readableRootRecords
        diagnostics += graph.diagnostics
        for key in graph.unmappedKeys { unmappedKeys["\(key.entity ?? "") \(key.path)", default: 0] += key.count }
    }
}
