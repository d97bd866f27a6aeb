package import Foundation

extension Examination {
    /// A payload against a model, with the result of its dry run, which has shown that it can be read.
    package init(
        _ json: Data, of entity: String, in model: Model, options: SyncOptions, dryRun result: SyncResult
    ) throws {
        let compiled = try model.compiled.entity(named: entity)
        var walk = PayloadExamination(model.compiled, findingPlacesOf: result.unresolved)
        try json.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: UInt8.self)
            var reader = JSONReader(bytes, form: JSONReader.Form(options.form), keyPath: options.keyPath)
            var tape = JSONTape()
            while try reader.next(into: &tape) {
                walk.examineRoot(tape, of: compiled, bytes, index: reader.recordIndex)
            }
        }
        self = Examination(of: model).adding(walk.findings(with: result))
    }
}
