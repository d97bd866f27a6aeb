import Foundation
import SyncCore

extension SyncExamination {
    /// A payload against a model, with the result of its dry run, which has shown that it can be read.
    init(
        _ json: Data, of entity: String, in model: SyncModel, hasParent: Bool, options: SyncOptions,
        dryRun result: SyncResult
    ) throws {
        let compiled = try model.compiled.entity(named: entity)
        var walk = PayloadExamination(
            model.compiled, hasParent: hasParent, findingPlacesOf: result.unresolved)
        try json.withUnsafeBytes { raw in
            let bytes = raw.bindMemory(to: UInt8.self)
            let layout = try PayloadLayout(options, of: compiled, in: model.compiled)
            // Resources say what they are as they are mapped: the dry run has it all.
            guard layout.types == nil else { return walk.noteUnmapped(result.unmappedKeys) }
            walk.readsConnections = layout.readsConnections
            walk.path.labels = layout.lists.map(\.label)
            var reader = layout.reader(bytes)
            var tape = JSONTape()
            while try reader.next(into: &tape) {
                let list = layout.isPlain ? layout.lists[0] : layout.lists[reader.walk.list]
                walk.examineRoot(
                    tape, at: reader.recordToken, of: model.compiled.entities[list.entity], bytes,
                    index: reader.recordIndex, root: layout.isPlain ? nil : .init(reader.recordPlace, tape),
                    nameSlot: reader.nameToken < 0 ? -1 : list.nameSlot)
            }
        }
        self = SyncExamination(of: model).adding(walk.findings(with: result))
    }
}
