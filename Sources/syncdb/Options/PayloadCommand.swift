import ArgumentParser
import Sync

/// A command about what a payload does to a database: `import` and `diff`.
///
/// The groups of options are its own, and what belongs together is put together here: in a debug build the argument
/// parser checks groups inside of groups four times as often with each level.
protocol PayloadCommand: ReadingCommand {
    var records: RecordsOptions { get }
    var layout: LayoutOptions { get }
    var rules: RuleOptions { get }

    var location: DatabaseOptions { get }
    var changes: ModelOptions { get }
    var key: KeyOptions { get }

    var result: ResultOptions { get }
    var list: ListOptions { get }
    var color: ColorOptions { get }
}

extension PayloadCommand {
    var payload: PayloadOptions { PayloadOptions(records: records, layout: layout, rules: rules) }
    var store: StoreOptions { StoreOptions(location: location, changes: changes, key: key) }
    var output: OutputOptions { OutputOptions(result: result, list: list, color: color) }

    var inputs: CommandInputs { store.inputs(with: records.files) }
    var busyTimeout: WaitingTime? { location.busyTimeout }
}
