import ArgumentParser

/// The options of a command that puts a response into a file.
struct DownloadOptions: ParsableArguments {
    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "File") var file: FileOptions
    @OptionGroup(title: "Progress") var progress: ProgressOptions
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions
}
