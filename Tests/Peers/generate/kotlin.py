"""kotlin.py FOLDER: compiles the Kotlin files of a folder with the compiler and the serialization plugin that
the package kotlin-jupyter-kernel ships, runs `main` of Main.kt if there is one, and prints its output."""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import zipfile

# The compiler loads the plugins that a jar names: here only that of kotlinx.serialization.
REGISTRAR = "META-INF/services/org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar"
PLUGIN = "org.jetbrains.kotlinx.serialization.compiler.extensions.SerializationComponentRegistrar\n"


def jars(pattern):
    """The paths of the package's jars with a name of this pattern."""
    folder = pathlib.Path(importlib.util.find_spec("run_kotlin_kernel").origin).parent / "jars"
    return [str(path) for path in sorted(folder.glob(pattern))]


def run(arguments):
    """Runs Java; ends with its output if it fails."""
    result = subprocess.run(
        ["java", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if result.returncode != 0:
        sys.exit(result.stdout)
    return result.stdout


source = pathlib.Path(sys.argv[1])
compiler = jars("kotlin-jupyter-kernel-*-all.jar")
libraries = jars("kotlin-stdlib-*.jar") + jars("kotlinx-serialization-*.jar")
with tempfile.TemporaryDirectory() as folder:
    plugin, classes = f"{folder}/plugin.jar", f"{folder}/classes"
    with zipfile.ZipFile(plugin, "w") as jar:
        jar.writestr(REGISTRAR, PLUGIN)
    path = ":".join(libraries)
    run(
        ["-cp", ":".join(compiler + libraries), "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"]
        + [f"-Xplugin={plugin}", "-no-stdlib", "-no-reflect", "-cp", path, "-d", classes]
        + [str(file) for file in sorted(source.glob("*.kt"))]
    )
    if (source / "Main.kt").exists():
        print(run(["-cp", f"{classes}:{path}", "MainKt"]), end="")
