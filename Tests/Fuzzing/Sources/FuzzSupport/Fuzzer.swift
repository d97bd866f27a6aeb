import CLibFuzzer
import Foundation

/// Runs a fuzz target with libFuzzer, which reads the arguments of the program.
public func fuzz(_ target: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt) -> Never {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(LLVMFuzzerRunDriver(&count, &arguments, target))
}

/// The generated payload, which failures print. Unsafe: only the fuzzing thread accesses it.
nonisolated(unsafe) var payloadBeingChecked: [UInt8]?

/// Prints a message and aborts. libFuzzer then saves the input.
public func fail(_ message: String) -> Never {
    let payload = payloadBeingChecked.map { "\nThe payload: " + String(decoding: $0, as: UTF8.self) } ?? ""
    FileHandle.standardError.write(Data("\nNot as it should be: \(message)\(payload)\n".utf8))
    abort()
}

/// Fails unless the condition holds.
public func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fail(message()) }
}
