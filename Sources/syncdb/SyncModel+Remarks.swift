import Sync

extension SyncModel {
    /// Says on standard error which transformers the model names and only an app can have: values are read and written
    /// without them.
    func remarkOnMissingTransformers() {
        let missing = missingTransformers.map { "'\($0.name)' (\($0.entity).\($0.attribute))" as VisibleText }
        guard !missing.isEmpty else { return }
        let names = ShortList(missing).text(between: ", ")
        Terminal.writeError("note: values are taken without the transformers that only an app can register: " + names)
    }
}
