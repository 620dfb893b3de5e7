rule marked_file
{
    meta:
        description = "a file that was marked for the test of this reviewer"
    strings:
        $mark = "SCIHARNESS-REVIEW-TEST-MARK"
    condition:
        $mark
}

rule hidden_command
{
    meta:
        description = "a program that decodes what it runs"
    strings:
        $exec = /exec\(\s*(base64|codecs|zlib|marshal)\./
        $shell = "os.system("
    condition:
        any of them
}
